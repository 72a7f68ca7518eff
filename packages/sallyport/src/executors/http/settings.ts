/** Settings of the HTTP executor. Limits of connections and times are those of `createOutboundHttp`. */
export interface HttpExecutorSettings {
  /** Most redirects followed within one call. */
  readonly redirectsMax: number;
  readonly userAgent: string;
}

/** Defaults. */
export const HTTP_EXECUTOR_DEFAULTS: HttpExecutorSettings = {
  redirectsMax: 3,
  userAgent: 'sallyport',
};
