/** The project that a tab showed last, for the pages of the organization, whose addresses name none. */

const NAME = 'spandrel.project';

export function keepProject(slug: string): void {
  try {
    sessionStorage.setItem(NAME, slug);
  } catch {
    // Without storage these pages offer the first project.
  }
}

export function keptProject(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}

/** The slug in an address; null where it names no project that the reader reaches. */
export function slugOf(pathname: string, slugs: readonly string[]): string | null {
  const named = decodeURIComponent(pathname.split('/')[1] ?? '');
  return slugs.find((slug) => slug === named) ?? null;
}

/** What links of the navigation lead into where the address names no project: the last one, or the first of all. */
export function fallbackSlug(slugs: readonly string[], kept: string | null): string | null {
  return slugs.find((slug) => slug === kept) ?? slugs[0] ?? null;
}
