# nothing for Python: see EncoderFilter.covariance
