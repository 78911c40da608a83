/** Pictures, sound and files of messages. Only bytes of allowed types become an element; nothing is requested from elsewhere. */

import { useEffect, useState } from 'react';
import { formatBytes, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import styles from './conversation.module.css';
import { type Media, shownTypeOf } from './messages-media.ts';

type MediaViewProps = { readonly media: Media; readonly label?: string };

const NAMES = { image: 'Image', audio: 'Audio', file: 'File' } as const;
const LABEL_CHARACTERS = 200;

export function MediaView({ media: { what, source }, label = '' }: MediaViewProps) {
  const name = nameControls(label.slice(0, LABEL_CHARACTERS)) || NAMES[what];
  if (source.kind === 'remote') {
    return (
      <a className={styles.remote} href={source.url} target="_blank" rel="noopener noreferrer">
        {name} at {nameControls(new URL(source.url).host)}, opens in a new tab
      </a>
    );
  }
  const { mediaType, base64 } = source;
  const about = `${nameControls(mediaType)}, ${formatBytes(Math.floor((base64.length * 3) / 4))}`;
  const shown = shownTypeOf(source);
  if (shown === null) return <span className={styles.note}>{`${name}: ${about}, not shown`}</span>;
  return <BytesView base64={base64} type={shown.type} isImage={shown.what === 'image'} name={name} about={about} />;
}

type BytesViewProps = {
  readonly base64: string;
  readonly type: string;
  readonly isImage: boolean;
  readonly name: string;
  readonly about: string;
};

function BytesView({ base64, type, isImage, name, about }: BytesViewProps) {
  const [url, setUrl] = useState<string | null>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const bytes = decode(base64);
    setBroken(bytes === null);
    if (bytes === null) return;
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [base64, type]);
  if (isBroken) return <span className={styles.note}>{`${name}: ${about}, not readable`}</span>;
  return (
    <span className={styles.media}>
      {isImage ? (
        url !== null && <img src={url} alt={name} onError={() => setBroken(true)} />
      ) : (
        <audio controls aria-label={name} preload="metadata" {...(url !== null && { src: url })} />
      )}
      <span className={page.soft}>{about}</span>
    </span>
  );
}

function decode(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    const text = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
    return bytes;
  } catch {
    return null;
  }
}
