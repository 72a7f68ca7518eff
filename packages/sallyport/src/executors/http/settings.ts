/** What the HTTP executor may be told. Bounds of connections and times are those of `createOutboundHttp`. */
export interface HttpExecutorSettings {
  /** Redirects that are followed within one call. */
  readonly redirectsMax: number;
  readonly userAgent: string;
}

/** Used for every setting that is not given. */
export const HTTP_EXECUTOR_DEFAULTS: HttpExecutorSettings = {
  redirectsMax: 3,
  userAgent: 'sallyport',
};
