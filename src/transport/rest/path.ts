/** Splits and decodes the path of a request. */

/** The path in segments, not decoded. Repeated slashes count once. */
export function rawSegments(path: string): string[] {
  const collapsed = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  return collapsed.slice(1).split('/');
}

/** The decoded segments; null where an escape is malformed. */
export function splitPath(path: string): string[] | null {
  const segments = rawSegments(path);
  if (!path.includes('%')) return segments;
  const decoded = segments.map(decodeSegment);
  return decoded.every((segment) => segment !== null) ? decoded : null;
}

/** Null where an escape is malformed. */
export function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** Path and query of a request target, which may be an absolute URL. */
export function splitTarget(url: string): { readonly path: string; readonly query: string } {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/';
  const mark = target.indexOf('?');
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
