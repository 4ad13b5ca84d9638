"""What is promised: guarantees and the accounting behind them."""
