/** The root secret of a single node: a file beside the data that only its owner can read. */

import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { RandomBytes } from '../domain/clock.ts';
import type { RootSecrets } from '../domain/organization/secret-rotation.ts';

const FILE = 'secret';
/** The secret that is taking the place of the other one. */
const NEXT_FILE = 'secret.next';
const SECRET_BYTES = 32;
const OTHERS_MASK = 0o007;
const GROUP_MASK = 0o070;
const SETGID = 0o2000;

/** Reads the secret, or creates it. Throws an Error with a line for the operator. */
export function readOrCreateSecret(folder: string, random: RandomBytes): RootSecrets {
  mkdirSync(folder, { recursive: true });
  createSecret(join(folder, FILE), random);
  return readSecrets(folder);
}

/** Reads the secret of an existing database, or both while it is replaced. Throws an Error with a line for the operator. */
export function readSecrets(folder: string): RootSecrets {
  const secret = readSecret(folder, FILE);
  if (!existsSync(join(folder, NEXT_FILE))) return { current: secret, previous: null };
  return { current: readSecret(folder, NEXT_FILE), previous: secret };
}

/** Creates the secret that shall take the place of the present one, unless an interrupted rotation left it. */
export function createNextSecret(folder: string, random: RandomBytes): RootSecrets {
  createSecret(join(folder, NEXT_FILE), random);
  return readSecrets(folder);
}

/** Ends the rotation: the present secret is overwritten. */
export function promoteNextSecret(folder: string): void {
  renameSync(join(folder, NEXT_FILE), join(folder, FILE));
  syncNames(folder);
}

/** Before anything is stored that only the secret opens: a power cut must not leave that without its file. */
function syncNames(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function readSecret(folder: string, file: string): string {
  const path = join(folder, file);
  if (!existsSync(path)) {
    throw new Error(`the secret file ${path} is gone; put it back, or set SPANDREL_SECRET to what it held`);
  }
  if (isOpenToStrangers(path, folder)) {
    throw new Error(
      `the secret file ${path} must not be open to group or others; run chmod 600 on it, or set SPANDREL_SECRET to its content`,
    );
  }
  const secret = readFileSync(path, 'utf8').trim();
  if (secret.length < SECRET_BYTES)
    throw new Error(
      `the secret file ${path} is damaged: it holds no secret; restore it from a backup, or set SPANDREL_SECRET to what it held`,
    );
  return secret;
}

/**
 * Kubernetes opens all files of a volume to the group `fsGroup`, which it gives to the process, and marks the folders. A
 * user may also have a group of its own, with the same number.
 */
function isOpenToStrangers(path: string, folder: string): boolean {
  const { mode, gid } = statSync(path);
  if ((mode & OTHERS_MASK) !== 0) return true;
  if ((mode & GROUP_MASK) === 0) return false;
  const isMember = gid === process.getegid?.() || process.getgroups?.().includes(gid) === true;
  const { mode: folderMode, gid: folderGid } = statSync(folder);
  const isOfVolume = (folderMode & SETGID) !== 0 && folderGid === gid;
  return !isMember || !(isOfVolume || gid === process.geteuid?.());
}

/** Does nothing when the file exists. The name appears only once the content is on disk, so a crash leaves no half secret. */
function createSecret(path: string, random: RandomBytes): void {
  const draft = `${path}.${random(8).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, random(SECRET_BYTES).toString('hex'));
    fsyncSync(descriptor);
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(descriptor);
    rmSync(draft);
  }
  syncNames(dirname(path));
}
