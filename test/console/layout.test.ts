/** The frame of every page. */

import { describe, expect, it } from 'vitest';
import { fallbackSlug, slugOf } from '../../src/console/layout/kept-project.ts';

describe('the project that the navigation leads into', () => {
  const slugs = ['shop', 'help desk', 'lab'];
  it('is that of the address', () => {
    expect([slugOf('/help%20desk/traces', slugs), slugOf('/lab', slugs)]).toEqual(['help desk', 'lab']);
  });

  it('is the last one on pages that name none, and the first one while there is no last one', () => {
    expect([slugOf('/-/spend', slugs), slugOf('/', slugs), slugOf('/gone/traces', slugs)]).toEqual([null, null, null]);
    expect(fallbackSlug(slugs, 'lab')).toBe('lab');
    expect(fallbackSlug(slugs, null)).toBe('shop');
    // A reader may no longer reach it, or never have done: a tab outlives its session.
    expect(fallbackSlug(slugs, 'gone')).toBe('shop');
    expect(fallbackSlug([], 'lab')).toBeNull();
  });
});
