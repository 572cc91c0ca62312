"""What people read: tables in the terminal, report.html, post.md, figures."""
