#!/bin/sh
# Checks the game with nothing but sh, grep and sed. Says what is wrong; exits 1 if anything is.
cd "$(dirname "$0")" || exit 1
bad=0
fail() { echo "FAIL  $1"; bad=1; }
pass() { echo "ok    $1"; }

# Every file the page asks for is here.
missing=
for file in $(grep -o '\(src\|href\)="[^"]*"' index.html | sed 's/.*="//; s/"//'); do
  [ -f "$file" ] || missing="$missing $file"
done
[ -z "$missing" ] && pass "index.html finds its files" || fail "index.html asks for$missing"

# Every element the script looks up is on the page.
missing=
for id in $(grep -o "el('[^']*')" game.js | sed "s/el('//; s/')//"); do
  grep -q "id=\"$id\"" index.html || missing="$missing #$id"
done
[ -z "$missing" ] && pass "game.js finds its elements" || fail "game.js looks for$missing, which index.html does not have"

# It works from a file, without a network.
if grep -n 'https\?://' index.html style.css game.js; then fail "something is loaded from elsewhere"; else pass "nothing is loaded from elsewhere"; fi

# Keyboard and touch both play.
for event in keydown pointerdown; do
  grep -q "'$event'" game.js && pass "$event plays" || fail "$event does nothing"
done

# Braces pair up.
open=$(tr -cd '{' < game.js | wc -c)
close=$(tr -cd '}' < game.js | wc -c)
[ "$open" -eq "$close" ] && pass "braces pair up" || fail "game.js has $open { and $close }"

[ "$bad" -eq 0 ] && echo "all checks passed"
exit "$bad"
