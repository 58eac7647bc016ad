# The commands that `board::git` runs for an issue, in its order, for a hundred issues one after
# another; started in the workspace, with a folder `../sh` for worktrees.
set -e
n=1
while [ $n -le 100 ]; do
  tree=../sh/issue-$n
  git status --porcelain=v2 --branch -z --no-renames --untracked-files=all >/dev/null
  git worktree add -q --no-track -b gg/issue-$n $tree HEAD
  echo work >$tree/file-$n
  base=$(cat .git/refs/heads/main)
  git -C $tree status --porcelain=v2 --branch -z --no-renames --untracked-files=all \
    --ignored=matching >/dev/null
  git -C $tree add -A -- .
  git -C $tree commit -q -m work
  commit=$(git -C $tree rev-parse HEAD)
  git -C $tree diff-tree -r -z -M --raw --numstat $base $commit >/dev/null
  git status --porcelain=v2 --branch -z --no-renames --untracked-files=all >/dev/null
  git diff --name-only -z --no-renames --diff-filter=A HEAD...$commit >/dev/null
  git merge -q --no-ff --no-edit -m merge gg/issue-$n
  git rev-parse HEAD HEAD^2 >/dev/null
  git -C $tree status --porcelain=v2 --branch -z --no-renames --untracked-files=all >/dev/null
  git -C $tree ls-files -z >/dev/null
  git worktree remove $tree
  git update-ref -d refs/heads/gg/issue-$n $commit
  n=$((n + 1))
done
