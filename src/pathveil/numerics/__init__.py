"""What is mathematics and nothing else: array types, compiled loops, numbers with error bounds."""
