import { text } from '../../../domain/settings/rows.ts';

/** The layer as client of authorization servers. */
export const LOGIN_SETTINGS = {
  redirectUrl: text('upstreams.login_redirect_url', {
    default: 'http://127.0.0.1:8976/callback',
    sentence:
      'Where the authorization server of an upstream leads back to after a login: an address of the machine at which people log in, where upstreams login listens, or https to a page that finishes logins.',
  }),
  clientIdUrl: text('upstreams.client_id_url', {
    default: '',
    sentence:
      'https address of a client metadata document that you publish for the layer, with which it needs no registration at authorization servers that know such documents. None when empty.',
  }),
};
