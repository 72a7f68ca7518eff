import assert from 'node:assert/strict';

/** Prints what happens, step by step, and checks it. */
export interface Story {
  step(what: string): void;
  /** Says one line about what was found, once it holds. */
  holds(what: string, check: () => void): void;
  readonly checks: number;
}

/** A story that writes to standard output. */
export function createStory(): Story {
  let checks = 0;
  return {
    step: (what) => console.log(`\n${what}`),
    holds(what, check) {
      check();
      checks += 1;
      console.log(`  ok  ${what}`);
    },
    get checks() {
      return checks;
    },
  };
}

/** The answer of a REST call. */
export interface Answer {
  readonly status: number;
  readonly body: {
    readonly status?: string;
    readonly result?: unknown;
    readonly invocation_id?: string;
    readonly error?: { readonly e_code: string; readonly message: string; readonly details?: Record<string, unknown> };
  };
}

/** Invokes a tool over REST. */
export async function invokeOverRest(url: string, token: string | undefined, body: object): Promise<Answer> {
  const response = await fetch(`${url}/v1/invocations`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** The call was refused so. */
export function assertRefused(answer: Answer, status: number, eCode: string): void {
  assert.deepEqual([answer.status, answer.body.error?.e_code], [status, eCode], JSON.stringify(answer.body));
}
