/** Reads the credentials from the headers, in order of precedence. */

export type HeaderReader = (name: string) => string | undefined;

export type PresentedCredential = {
  readonly token: string;
  /** The user of Basic: the project id for this token and no other. */
  readonly basicUser: string | null;
};

/**
 * Every kind of token is accepted in both headers: X-Auth-Token, then Authorization with Basic or Bearer. Empty tokens
 * are left out, and a token in both headers is one credential.
 */
export function readCredentials(header: HeaderReader): readonly PresentedCredential[] {
  const token = header('x-auth-token')?.trim();
  const authorization = header('authorization');
  const second = authorization === undefined ? null : readAuthorization(authorization);
  if (!token) return second === null ? [] : [second];
  if (second === null) return [{ token, basicUser: null }];
  return second.token === token ? [second] : [{ token, basicUser: null }, second];
}

/** X-Project-Id, which may accompany any credential. */
export function readProjectId(header: HeaderReader): string | null {
  return header('x-project-id')?.trim() || null;
}

function readAuthorization(authorization: string): PresentedCredential | null {
  const encoded = schemeValue(authorization, 'basic');
  if (encoded !== null) return readBasic(encoded);
  const token = schemeValue(authorization, 'bearer');
  return token ? { token, basicUser: null } : null;
}

function schemeValue(authorization: string, scheme: string): string | null {
  const text = authorization.trimStart();
  if (text.length <= scheme.length || text[scheme.length] !== ' ') return null;
  if (text.slice(0, scheme.length).toLowerCase() !== scheme) return null;
  return text.slice(scheme.length + 1).trim();
}

function readBasic(encoded: string): PresentedCredential | null {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return null;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon <= 0 || colon === decoded.length - 1) return null;
  return { basicUser: decoded.slice(0, colon), token: decoded.slice(colon + 1) };
}
