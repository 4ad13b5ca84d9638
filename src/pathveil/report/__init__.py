"""Reports and pictures: one HTML file for planning, for the curator, or beside a release; charts for notebooks."""
