import { named } from './language-rows.ts';
import type { ProgramRow } from './program-row.ts';

/** What any subcommand takes. */
const ANY: ProgramRow = {
  commands:
    '--upload-pack --receive-pack --exec --extcmd --sendmail-cmd --open-files-in-pager --tree-filter --index-filter',
  code: '--config',
  asks: 'oO --output --output-directory --template --ext-diff --textconv --remote --work-tree --git-dir --reference --separate-git-dir --pathspec-from-file --strategy --directory',
  takes:
    'mFnSGLUbBtACjM --message --file --author --date --since --until --after --before --grep --format --pretty --max-count --skip --abbrev --depth --branch --committer --stat --unified --color --diff-filter --sort --contains --merged --no-merged --points-at --origin --pathspec --fixup --squash --cleanup --word-diff --decorate --prefix --source --dirstat --track --jobs --onto --exclude --match --candidates --signoff',
  flags:
    'avqfplrsziwdNPRDuEhkex1234567890 --all --oneline --graph --name-only --name-status --patch --no-patch --stat --numstat --shortstat --cached --staged --quiet --verbose --force --amend --no-edit --tags --follow --reverse --short --porcelain --bare --mirror --hard --soft --mixed --no-ff --ff-only --ff --rebase --dry-run --ignore-case --recursive --list --show-current --no-color --delete --prune --abbrev-ref --verify --no-verify --first-parent --merges --no-merges --raw --no-renames --line-number --count --allow-empty --set-upstream --tags --no-tags --single-branch --others --exclude-standard --stage --exact-match --always --dirty --left-right --cherry-pick --full-history --untracked-files --ignored --include-untracked --keep-index --continue --abort --no-commit --squash --detach --worktree',
};

const READS_AND_WRITES =
  'status log diff show shortlog blame annotate ls-files ls-tree rev-parse rev-list describe merge-base name-rev cherry whatchanged show-ref show-branch count-objects check-ignore check-attr diff-tree diff-index diff-files for-each-ref range-diff cat-file version grep add rm mv commit tag branch checkout switch restore reset revert cherry-pick merge push pull fetch clone init stash reflog notes clean apply archive gc fsck remote ls-remote format-patch am shortlog worktree update-index write-tree commit-tree hash-object update-ref rev-parse sparse-checkout';

/** git: what its options and subcommands run. A repository that a caller chooses brings settings that run programs. */
export const GIT_ROW: ProgramRow = {
  code: 'c',
  commands: '--exec-path --config-env',
  asks: 'C --git-dir --work-tree --namespace --super-prefix',
  flags:
    'pP --no-pager --paginate --no-optional-locks --literal-pathspecs --no-replace-objects --bare --version --help',
  keys: 'user.name user.email author.name author.email committer.name committer.email core.quotepath color.ui init.defaultbranch http.extraheader',
  subcommands: {
    ...named(READS_AND_WRITES, ANY),
    grep: { ...ANY, commands: `${ANY.commands} O`, asks: 'o --output', takes: `${ANY.takes} efm --threads` },
    ...named('clone fetch pull push ls-remote', { ...ANY, commands: `${ANY.commands} u`, code: 'c --config' }),
    push: { ...ANY, flags: `${ANY.flags} u`, takes: `${ANY.takes} --push-option` },
    rebase: { ...ANY, commands: 'x --exec', operands: ['plain'] },
    difftool: { ...ANY, commands: 'x --extcmd', asks: 't --tool', operands: ['plain'] },
    stash: { ...ANY },
    bisect: {
      subcommands: {
        run: { operands: ['program'] },
        ...named('start good bad reset skip log', {}),
        '*': { operands: ['open'] },
      },
    },
    submodule: {
      subcommands: {
        foreach: { flags: 'q --recursive --quiet', operands: ['text'] },
        ...named('status summary', {}),
        '*': { operands: ['open'] },
      },
    },
    '*': { operands: ['open'] },
  },
};
