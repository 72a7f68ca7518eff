import { boolean, text } from '../../domain/settings/rows.ts';

/** How pages are fetched, and where modules of functions are. */
export const WEB_SETTINGS = [
  boolean('web.respect_robots', {
    default: true,
    sentence: "Whether pages that a site's robots.txt closes to web.robots_name are refused (RFC 9309).",
  }),
  text('web.robots_name', { default: 'sallyport', sentence: 'Name by which robots.txt speaks of this layer.' }),
  text('web.user_agent', {
    default: 'sallyport',
    sentence: 'User-Agent that sites are told; name a way to reach you in it.',
  }),
  boolean('web.cache', {
    default: true,
    sentence: 'Whether answers are kept in memory and asked for again as their headers say.',
  }),
  text('functions.folder', {
    default: '',
    sentence: 'Folder of JavaScript modules that manifests of kind native may name by path; none when empty.',
  }),
];
