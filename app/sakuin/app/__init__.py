"""The application: paragraphs, web, command line and daemon. The only reader of the environment."""
