import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readOrCreateSecret, readSecrets } from '../../src/config/secret-file.ts';
import { temporaryFolder } from '../support/temp.ts';

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let secret: string;
beforeEach(() => {
  folder = temporaryFolder();
  secret = readOrCreateSecret(folder.path, randomBytes).current;
  file = join(folder.path, 'secret');
});
afterEach(() => folder.remove());

const REFUSED = /must not be open to group or others; run chmod 600 on it, or set SPANDREL_SECRET/;
/** Of the process, and by convention the group of its user alone. */
const OWN_GROUP = process.getegid?.() ?? 0;
const isPrivateGroup = OWN_GROUP === process.geteuid?.();
const isRoot = process.geteuid?.() === 0;

describe('the secret file', () => {
  it('is made for its owner alone', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([0o604, 0o602, 0o644, 0o666])('is refused when others may use it (%o)', (mode) => {
    chmodSync(folder.path, 0o2770);
    chmodSync(file, mode);
    expect(() => readSecrets(folder.path)).toThrow(REFUSED);
  });

  it.each([0o640, 0o660])('may be open (%o) to the group that Kubernetes gives to a volume and its process', (mode) => {
    chownSync(folder.path, -1, OWN_GROUP);
    chmodSync(folder.path, 0o2770);
    chmodSync(file, mode);
    expect(readSecrets(folder.path)).toEqual({ current: secret, previous: null });
  });

  it.runIf(isPrivateGroup)("may be open to the user's own group", () => {
    chmodSync(file, 0o660);
    expect(readSecrets(folder.path)).toEqual({ current: secret, previous: null });
  });

  it.runIf(isRoot)('is refused when it is open to a group that the process is not in', () => {
    const stranger = 54_321;
    chownSync(folder.path, 0, stranger);
    chmodSync(folder.path, 0o2770);
    chownSync(file, 0, stranger);
    chmodSync(file, 0o640);
    expect(() => readSecrets(folder.path)).toThrow(REFUSED);
  });
});
