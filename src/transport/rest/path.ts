/** Splits and decodes the path of a request. */

/** The first segment of API paths; never the slug of a project. */
export const API_ROOT = 'api';

/** The path in segments, not decoded. */
export function rawSegments(path: string): string[] {
  return path.slice(1).split('/');
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

/** Path and query of a request target, which may be an absolute URL. Repeated slashes in the path count once. */
export function splitTarget(url: string): { readonly path: string; readonly query: string } {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return {
    path: path.includes('//') ? path.replace(/\/{2,}/g, '/') : path,
    query: mark < 0 ? '' : target.slice(mark + 1),
  };
}
