"""What tests need, shipped: vendors on loopback with saved replies (`vendor`), and providers without network (`fakes`)."""
