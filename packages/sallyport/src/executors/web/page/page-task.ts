/** A task for the worker. */
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
  /** Number of dropped items, by kind. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Remarks: the markup was cut before parsing, or no article was found. */
  readonly notes: readonly string[];
  readonly truncated: boolean;
}

export interface PageLink {
  readonly text: string;
  readonly url: string;
}

/** The worker's result for each kind of task. */
export interface PageAnswers {
  readonly html: ConvertedPage;
  /** Undefined when the text is no feed. */
  readonly feed: ConvertedPage | undefined;
  /** True when the page may be fetched. */
  readonly robots: boolean;
}

/** Message to the worker. */
export interface PageRequest {
  readonly id: number;
  readonly task: PageTask;
}

/** `refused` is a sentence for the caller; `failed` says what went wrong. */
export type PageReply = { readonly id: number } & (
  | { readonly answer: PageAnswers[PageTask['kind']] }
  | { readonly refused: string }
  | { readonly failed: string }
);
