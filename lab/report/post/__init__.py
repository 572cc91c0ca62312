"""Posts to be published: post.md with its appendix, and gist.md."""
