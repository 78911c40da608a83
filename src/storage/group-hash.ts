/** How groups are divided into parts in this process. */

import { randomBytes } from 'node:crypto';
import { keyedGroupHash } from '../domain/group-parts.ts';

const KEY_BYTES = 16;

export const GROUP_HASH = keyedGroupHash(randomBytes(KEY_BYTES).toString('base64'));
