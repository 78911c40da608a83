/** Reads the presented tokens out of the headers, in their order of precedence. */

export type HeaderReader = (name: string) => string | undefined;

export type Presented = {
  /** Non-empty tokens, the most preferred position first; at most three. */
  readonly tokens: readonly string[];
  /** The project named beside the token: the user of Basic, or X-Project-Id. */
  readonly projectId: string | null;
};

/** Every kind of token is accepted in every position. */
export function readCredential(header: HeaderReader): Presented {
  const tokens: string[] = [];
  let projectId: string | null = null;
  const authorization = header('authorization');
  if (authorization !== undefined) {
    const basic = readBasic(authorization);
    if (basic) {
      tokens.push(basic.token);
      projectId = basic.projectId;
    } else {
      const bearer = schemeValue(authorization, 'bearer');
      if (bearer) tokens.push(bearer);
    }
  }
  const authToken = header('x-auth-token')?.trim();
  if (authToken) tokens.push(authToken);
  if (projectId === null) projectId = header('x-project-id')?.trim() || null;
  return { tokens, projectId };
}

function schemeValue(authorization: string, scheme: string): string | null {
  const text = authorization.trimStart();
  if (text.length <= scheme.length || text[scheme.length] !== ' ') return null;
  if (text.slice(0, scheme.length).toLowerCase() !== scheme) return null;
  return text.slice(scheme.length + 1).trim();
}

function readBasic(authorization: string): { projectId: string; token: string } | null {
  const encoded = schemeValue(authorization, 'basic');
  if (!encoded || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return null;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon <= 0 || colon === decoded.length - 1) return null;
  return { projectId: decoded.slice(0, colon), token: decoded.slice(colon + 1) };
}
