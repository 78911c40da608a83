/** Reads pictures, sound and files out of the parts of messages. */

import { isRecord } from './exact-json.ts';

/** What only a link may lead to, or bytes that the page may show. */
export type Media = {
  readonly what: 'image' | 'audio' | 'file';
  readonly source:
    | { readonly kind: 'data'; readonly mediaType: string; readonly base64: string }
    | { readonly kind: 'remote'; readonly url: string };
};

/**
 * The types that the page shows. A browser runs no code in any of them; SVG and HTML are not among them. Bytes of another
 * type are named with their size.
 */
const SHOWN: Readonly<Record<string, 'image' | 'audio'>> = {
  'image/png': 'image',
  'image/jpeg': 'image',
  'image/gif': 'image',
  'image/webp': 'image',
  'image/avif': 'image',
  'audio/mpeg': 'audio',
  'audio/mp4': 'audio',
  'audio/wav': 'audio',
  'audio/ogg': 'audio',
  'audio/webm': 'audio',
  'audio/flac': 'audio',
  'audio/aac': 'audio',
};
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/m4a': 'audio/mp4',
};
/** About 20 MB of bytes. */
const BASE64_MAX = 28_000_000;

/** The type under which a browser may show bytes; null for those that it must not show. */
export function shownTypeOf({ mediaType, base64 }: { readonly mediaType: string; readonly base64: string }) {
  const type = ALIASES[mediaType] ?? mediaType;
  return Object.hasOwn(SHOWN, type) && base64.length <= BASE64_MAX ? { type, what: SHOWN[type] } : null;
}

type Found = { readonly media: Media; readonly others: Record<string, unknown> };

/** The picture, sound or file of a part, and the members that do not belong to it; null for other parts. */
export function readMedia(part: Record<string, unknown>): Found | null {
  const { type, ...others } = part;
  const kind = typeof type === 'string' ? type : '';
  if (kind === 'image_url' || kind === 'input_image' || kind === 'audio_url') return readLinked(kind, others);
  if (kind === 'input_audio' || kind === 'audio') return readAudio(others);
  if (kind === 'image' || kind === 'file' || kind === 'document' || kind === 'media') return readSource(kind, others);
  if (kind === 'blob' || kind === 'uri') return readNamed(kind, others);
  const { inline_data, inlineData, ...rest } = part;
  const inline = inline_data ?? inlineData;
  return isRecord(inline) ? found('file', dataOf(inline.mime_type ?? inline.mimeType, inline.data), rest) : null;
}

/** `{image_url: {url}}` of OpenAI's completions, `{image_url: '…'}` of its responses. */
function readLinked(kind: string, { image_url, audio_url, ...others }: Record<string, unknown>): Found | null {
  const linked = image_url ?? audio_url;
  const url = isRecord(linked) ? linked.url : linked;
  const beside = isRecord(linked) ? Object.fromEntries(Object.entries(linked).filter(([key]) => key !== 'url')) : {};
  return found(kind === 'audio_url' ? 'audio' : 'image', sourceOf(url), { ...beside, ...others });
}

/** `{input_audio: {data, format}}`. */
function readAudio({ input_audio, audio, ...others }: Record<string, unknown>): Found | null {
  const heard = input_audio ?? audio;
  if (!isRecord(heard)) return typeof heard === 'string' ? found('audio', sourceOf(heard), others) : null;
  const { data, format, ...beside } = heard;
  return found('audio', dataOf(`audio/${typeof format === 'string' ? format : 'wav'}`, data), { ...beside, ...others });
}

/** `{source: {type, media_type, data, url}}` of Anthropic, `{image, mediaType}` and `{data, mediaType}` of the AI SDK. */
function readSource(kind: string, { source, ...others }: Record<string, unknown>): Found | null {
  const what = kind === 'image' ? 'image' : 'file';
  if (isRecord(source)) {
    const { type: _, media_type, data, url, ...beside } = source;
    return found(what, dataOf(media_type, data) ?? sourceOf(url), { ...beside, ...others });
  }
  if (kind === 'file' && isRecord(others.file)) {
    const { file, ...rest } = others;
    const { file_data, ...beside } = file as Record<string, unknown>;
    return found('file', sourceOf(file_data), { ...beside, ...rest });
  }
  const { image, data, mediaType, mimeType, ...rest } = others;
  const value = image ?? data;
  return found(what, sourceOf(value) ?? dataOf(mediaType ?? mimeType ?? (image && 'image/png'), value), rest);
}

/** `{mime_type, content}` and `{mime_type, uri}` of OpenTelemetry. */
function readNamed(kind: string, { mime_type, content, uri, ...others }: Record<string, unknown>): Found | null {
  const what = /^(image|audio)/.exec(`${mime_type ?? others.modality ?? ''}`)?.[1] as 'image' | 'audio' | undefined;
  return found(what ?? 'file', kind === 'blob' ? dataOf(mime_type, content) : sourceOf(uri), others);
}

function found(what: Media['what'], source: Media['source'] | null, others: Record<string, unknown>): Found | null {
  if (source === null) return null;
  const known = source.kind === 'data' ? /^(image|audio)\//.exec(source.mediaType)?.[1] : undefined;
  return { media: { what: known === 'image' || known === 'audio' ? known : what, source }, others };
}

function dataOf(mediaType: unknown, data: unknown): Media['source'] | null {
  if (typeof mediaType !== 'string' || typeof data !== 'string') return null;
  return { kind: 'data', mediaType: mediaType.toLowerCase(), base64: data };
}

/** A text that is nothing but a data URL; null for other texts. */
export function mediaOfText(text: string): Media | null {
  if (!text.startsWith('data:') || /\s/.test(text.trim())) return null;
  const source = sourceOf(text.trim());
  return source?.kind === 'data' ? (found('file', source, {})?.media ?? null) : null;
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[\w."-]*)*;base64,/i;

/** Bytes of a data URL in base64, or a link on the web; null for anything else. */
export function sourceOf(url: unknown): Media['source'] | null {
  if (typeof url !== 'string') return null;
  const [head, mediaType = ''] = DATA_URL.exec(url.slice(0, 200)) ?? [];
  if (head !== undefined) return { kind: 'data', mediaType: mediaType.toLowerCase(), base64: url.slice(head.length) };
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? { kind: 'remote', url } : null;
}
