/** What is asked of the worker. */
export type PageTask =
  | {
      readonly kind: 'html';
      readonly html: string;
      /** For relative links. */
      readonly url: string;
      readonly mode: 'article' | 'full' | 'text';
      readonly selector?: string | undefined;
      readonly links: boolean;
    }
  | { readonly kind: 'feed'; readonly xml: string; readonly url: string }
  | {
      readonly kind: 'robots';
      readonly robots: string;
      readonly robotsUrl: string;
      readonly url: string;
      readonly userAgent: string;
    };

/** A page as text. */
export interface ConvertedPage {
  readonly content: string;
  readonly title?: string;
  readonly byline?: string;
  readonly language?: string;
  readonly links?: readonly PageLink[];
  /** What was left out, by kind, and how often. */
  readonly dropped: Readonly<Record<string, number>>;
  /** The markup was cut before it was read, or no article was found. */
  readonly notes: readonly string[];
  readonly truncated: boolean;
}

export interface PageLink {
  readonly text: string;
  readonly url: string;
}

/** What the worker gives for each kind of task. */
export interface PageAnswers {
  readonly html: ConvertedPage;
  /** Undefined when the text is no feed. */
  readonly feed: ConvertedPage | undefined;
  /** Whether the page may be fetched. */
  readonly robots: boolean;
}

/** What is sent to the worker. */
export interface PageRequest {
  readonly id: number;
  readonly task: PageTask;
}

/** `refused` is a sentence for the caller; `failed` what went wrong. */
export type PageReply = { readonly id: number } & (
  | { readonly answer: PageAnswers[PageTask['kind']] }
  | { readonly refused: string }
  | { readonly failed: string }
);
