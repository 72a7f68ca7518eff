import { hiddenShown } from '@sallyport/std/text/hidden-characters';

/** Style sheet of the pages; their content security policy names it by hash. */
export const CONSENT_STYLE = `
:root { color-scheme: light dark; }
body { max-width: 32rem; margin: 3rem auto; padding: 0 1.25rem; font: 1rem/1.55 system-ui, sans-serif; }
h1 { margin: 0 0 1rem; font-size: 1.4rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; margin: 1rem 0; }
dt { opacity: .7; }
dd { margin: 0; overflow-wrap: anywhere; }
ul { margin: 0; padding: 0; list-style: none; }
code { font: .92rem/1.5 ui-monospace, monospace; }
label { display: block; margin: .75rem 0 .25rem; }
input, select { font: inherit; padding: .4rem .6rem; width: 100%; box-sizing: border-box; }
button { font: inherit; padding: .5rem 1.4rem; margin: 1rem .5rem 0 0; border-radius: .4rem; border: 1px solid currentcolor; background: none; color: inherit; cursor: pointer; }
button[value="allow"], button.main { background: #1a5fb4; border-color: #1a5fb4; color: #fff; }
.warning { border-left: .25rem solid #c64600; padding: .1rem 0 .1rem .9rem; }
.note { opacity: .7; font-size: .9rem; margin-top: 2rem; }
`;

const NOTE = '<p class="note">Sallyport’s authorization server for development. It serves this machine only.</p>';

/** What both forms carry back. */
interface Form {
  /** Path that the form is sent to. */
  readonly action: string;
  /** Proves that the form came from this page. */
  readonly seal: string;
}

/** Asks for the login code. @param problem with the code that was sent before */
export function loginPage(form: Form, users: readonly string[], client: string, problem?: string): string {
  const options = users.map((user) => `<option>${escaped(user)}</option>`).join('');
  const [only = ''] = users;
  const who =
    users.length === 1
      ? `<input type="hidden" name="user" value="${escaped(only)}"><p>You log in as <strong>${escaped(only)}</strong>, for <strong>${escaped(client)}</strong>.</p>`
      : `<p>You log in for <strong>${escaped(client)}</strong>.</p><label for="user">User</label><select id="user" name="user">${options}</select>`;
  return page(
    'Log in',
    `<h1>Log in to Sallyport</h1>${problem === undefined ? '' : `<p class="warning" role="alert">${escaped(problem)}</p>`}
${formOf(
  form,
  `${who}<label for="code">Login code, as the terminal of <code>sallyport auth dev</code> shows it</label>
<input id="code" name="code" required autocomplete="off" autofocus spellcheck="false"><button class="main">Log in</button>`,
)}`,
  );
}

/** What a client wants, for the user to decide. */
export interface Wish {
  readonly clientName: string;
  readonly clientId: string;
  readonly user: string;
  /** Where the answer goes. */
  readonly redirectUri: string;
  readonly resources: readonly string[];
  readonly scopes: readonly { readonly scope: string; readonly means: string }[];
}

/** Names client, user and scopes, and asks whether to allow that. */
export function consentPage(form: Form, wish: Wish): string {
  const { clientName, clientId, user, redirectUri, resources, scopes } = wish;
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  const host = url === undefined ? redirectUri : url.host || url.protocol;
  const rows = [
    ['Client', `<strong>${escaped(clientName)}</strong><br><code>${escaped(clientId)}</code>`],
    ['You are', `<strong>${escaped(user)}</strong>`],
    ['Answer goes to', `<strong>${escaped(host)}</strong>`],
    ['Address', resources.map((each) => `<code>${escaped(each)}</code>`).join('<br>')],
    [
      'It may',
      `<ul>${scopes.map(({ scope, means }) => `<li>${escaped(means)} <code>${escaped(scope)}</code></li>`).join('')}</ul>`,
    ],
  ];
  return page(
    'Allow access',
    `<h1>Allow “${escaped(clientName)}” to use your tools?</h1>
<dl>${rows.map(([term, text]) => `<dt>${term}</dt><dd>${text}</dd>`).join('')}</dl>
${isOnThisMachine(url) ? '<p class="warning">The answer goes to a program on this machine, and any program can use the name of this client. Allow it only if you have just started this login yourself.</p>' : ''}
${formOf(form, '<button name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button>')}`,
  );
}

/** Says why a request cannot go on. */
export function problemPage(title: string, message: string): string {
  return page(title, `<h1>${escaped(title)}</h1><p>${escaped(message)}</p>`);
}

function isOnThisMachine(url: URL | undefined): boolean {
  return (
    url !== undefined &&
    (!/^https?:$/.test(url.protocol) || /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
  );
}

const formOf = ({ action, seal }: Form, fields: string): string =>
  `<form method="post" action="${escaped(action)}"><input type="hidden" name="seal" value="${escaped(seal)}">${fields}</form>`;

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Sallyport</title>
<style>${CONSENT_STYLE}</style>
</head>
<body>
<main>
${body}
${NOTE}
</main>
</body>
</html>
`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Longest foreign text shown. */
const SHOWN_MAX = 300;

/** Foreign text for a page: short, and without characters that hide or turn other text. */
function escaped(text: string): string {
  return hiddenShown(text.slice(0, SHOWN_MAX)).replace(/[&<>"']/g, (each) => ENTITIES[each] ?? '');
}
