"""Private Markov models: frequencies, stochastic matrices and chains fitted to data."""
