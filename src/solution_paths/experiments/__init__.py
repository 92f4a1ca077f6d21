"""What each paper's experiments run, and what each table and figure is made of."""
