# Print what a Mac has of a file server and an account, a word a line: $1 the server's property list, $2 the account, $3
# the group of accounts that may use the server.
command -v sharing >/dev/null && [ -f "$1" ] && echo server
id -u "$2" >/dev/null 2>&1 && echo account
if dscl . -read "/Groups/$3" >/dev/null 2>&1; then
    dseditgroup -o checkmember -m "$2" "$3" 2>/dev/null | grep -q '^no ' && echo outsider
fi
# shellcheck disable=SC2046  # a word for each form of the password
echo hashes $(pwpolicy -u "$2" -gethashtypes 2>/dev/null)
