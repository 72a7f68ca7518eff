import type { Setting } from './setting.ts';

/** How pages are fetched, and where modules of functions are. */
export const WEB_SETTINGS = [
  {
    key: 'web.respect_robots',
    type: 'boolean',
    default: true,
    sentence: "Whether pages that a site's robots.txt closes to web.robots_name are refused (RFC 9309).",
  },
  {
    key: 'web.robots_name',
    type: 'string',
    default: 'sallyport',
    sentence: 'Name by which robots.txt speaks of this layer.',
  },
  {
    key: 'web.user_agent',
    type: 'string',
    default: 'sallyport',
    sentence: 'User-Agent that sites are told; name a way to reach you in it.',
  },
  {
    key: 'web.cache',
    type: 'boolean',
    default: true,
    sentence: 'Whether answers are kept in memory and asked for again as their headers say.',
  },
  {
    key: 'functions.folder',
    type: 'string',
    default: '',
    sentence: 'Folder of JavaScript modules that manifests of kind native may name by path; none when empty.',
  },
] as const satisfies readonly Setting[];
