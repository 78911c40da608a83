/** The certificate and the key of the port, which are renewed while the server runs. */

import { readFileSync, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Config } from '../config/config.ts';

type TlsFiles = NonNullable<Config['tls']>;
/** PEM texts. */
type TlsTexts = { readonly cert: string; readonly key: string };

/** Files on network volumes and behind links send no events, so the files are looked at. */
const LOOK_EVERY_MS = 1_000;

/** Throws an Error with a line for the operator. */
export function readTlsFiles({ certPath, keyPath }: TlsFiles): TlsTexts {
  try {
    const texts = { cert: readFileSync(certPath, 'utf8'), key: readFileSync(keyPath, 'utf8') };
    createSecureContext(texts);
    return texts;
  } catch (error) {
    throw new Error(`the TLS files cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

type Renewal = {
  readonly files: TlsFiles;
  readonly use: (texts: TlsTexts) => void;
  readonly log: { info(message: string): void; error(fields: object, message: string): void };
};

/** Reads the files again when one of them changes, as long as the process runs. Files that do not belong together are ignored until the next change. */
export function watchTlsFiles({ files, use, log }: Renewal): { readonly reload: () => void } {
  const reload = () => {
    try {
      use(readTlsFiles(files));
      log.info('the TLS files were read again');
    } catch (error) {
      log.error({ err: error }, 'the TLS files were not taken; those before are used');
    }
  };
  for (const path of [files.certPath, files.keyPath]) {
    watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, reload);
  }
  return { reload };
}
