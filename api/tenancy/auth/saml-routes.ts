import { RESPONSE_BYTES_MAX } from '../../../platform/identity/saml/response.ts';
import { SamlLoginQuery, SamlParams, SamlResponseBody } from '../../../schemas/saml.ts';
import { route } from '../../conventions/route.ts';
import { deviceOf } from './device.ts';
import { beginSamlLogin, finishSamlLogin, samlMetadata } from './saml.ts';

export const samlRoutes = [
  route({
    method: 'GET',
    path: '/auth/saml/{tenant}/metadata',
    summary: 'Get the service provider metadata for the tenant’s identity provider',
    permission: 'public',
    params: SamlParams,
    status: 200,
    answer: null,
    contentType: 'application/samlmetadata+xml',
    handler: ({ deps, params }) => samlMetadata(deps, params.tenant) as never,
  }),
  route({
    method: 'GET',
    path: '/auth/saml/{tenant}/login',
    summary: 'Begin a login at the tenant’s identity provider',
    permission: 'public',
    params: SamlParams,
    query: SamlLoginQuery,
    secretAnswer: true,
    status: 302,
    answer: null,
    async handler({ deps, params, query, setHeader }) {
      const { location, cookie } = await beginSamlLogin(deps, params.tenant, query.state ?? '');
      setHeader('set-cookie', cookie);
      setHeader('location', location);
    },
  }),
  route({
    method: 'POST',
    path: '/auth/saml/{tenant}/acs',
    summary: 'Receive the identity provider’s response and open a session',
    permission: 'public',
    params: SamlParams,
    body: SamlResponseBody,
    bodyType: 'application/x-www-form-urlencoded',
    // Base64 of the largest response, percent-encoded in the worst case.
    bodyLimitBytes: RESPONSE_BYTES_MAX * 3,
    secretAnswer: true,
    status: 302,
    answer: null,
    async handler(call) {
      const { deps, params, body, headers, setHeader } = call;
      const { tenant } = params;
      const cookies = [headers['cookie'] ?? []].flat().join(';');
      const { location, cookie } = await finishSamlLogin(
        deps,
        tenant,
        body,
        cookies,
        deviceOf(call),
      );
      setHeader('set-cookie', cookie);
      setHeader('location', location);
    },
  }),
];
