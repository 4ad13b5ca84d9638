"""What tests of pictures share."""

import pytest


@pytest.fixture
def axes():
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)
