import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url).pathname;
const DOCS = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
const FILES = [...readdirSync(ROOT), ...DOCS.map((name) => `docs/${name}`)];
const PAGES = FILES.filter((name) => name.endsWith('.md'));
/** Shown by pages. */
const PICTURES = FILES.filter((name) => name.endsWith('.webp'));

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = readFileSync(join(ROOT, page), 'utf8').matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(' ', '-')
        .replace(/[^a-z0-9_-]/g, ''),
    ),
  );
}

/** What a link of a page leads to within the project; null for addresses elsewhere. */
function targetOf(page: string, link: string): { readonly page: string; readonly anchor: string } | null {
  if (/^[a-z]+:/.test(link)) return null;
  const [path = '', anchor = ''] = link.split('#');
  return { page: path === '' ? page : normalize(join(dirname(page), path)), anchor };
}

it('every link between the pages leads to a page, and to a heading in it', () => {
  const anchors = new Map([
    ...PAGES.map((page) => [page, anchorsOf(page)] as const),
    ...PICTURES.map((picture) => [picture, new Set<string>()] as const),
  ]);
  const broken = PAGES.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8').replace(/^```.*?^```/gms, '');
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      const target = targetOf(page, link);
      if (target === null) return [];
      const known = anchors.get(target.page);
      return known && (target.anchor === '' || known.has(target.anchor)) ? [] : [`${page}: ${link}`];
    });
  });
  expect([...new Set(broken)]).toEqual([]);
});

it('every page of docs is linked from the README', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  expect(PAGES.filter((page) => page.startsWith('docs/') && !readme.includes(`](${page}`))).toEqual([]);
});
