"""What a release would cost, decided before any data are read: forecasts, grids of ε and b, and the best mechanism."""
