/** What a browser shows, or where it was sent. */
export interface Page {
  readonly status: number;
  readonly url: string;
  readonly html: string;
  readonly headers: Headers;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** A browser without screen: keeps cookies, follows redirects within one origin, sends forms. */
export class Browser {
  readonly #cookies = new Map<string, Cookie>();
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Goes to an address; ends at a page, or at the address of another origin that it is sent to. */
  async visit(url: string, init: RequestInit = {}): Promise<Page> {
    const { pathname } = new URL(url);
    const sent = [...this.#cookies].filter(([, { path }]) => pathname.startsWith(path));
    const cookie = sent.map(([name, { value }]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie === '' ? {} : { cookie }) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const shown = { status: response.status, url, html: await response.text(), headers: response.headers };
    const location = response.headers.get('location');
    if (location === null) return shown;
    const next = new URL(location, url);
    return next.origin === this.#origin ? this.visit(next.href) : { ...shown, url: next.href };
  }

  /** Sends the form of a page with what the user filled in. @param headers in place of the browser's own */
  send(
    { url, html }: Page,
    filled: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = { origin: this.#origin, 'sec-fetch-site': 'same-origin' },
  ): Promise<Page> {
    const action = /<form method="post" action="([^"]*)"/.exec(html)?.[1] ?? '';
    const seal = /name="seal" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const body = new URLSearchParams({ seal, ...filled });
    return this.visit(new URL(action, url).href, { method: 'POST', body, headers });
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    const path = attributes.find((each) => each.startsWith('path='))?.slice('path='.length) ?? '/';
    if (value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, { value, path });
  }
}
