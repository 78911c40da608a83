/**
 * Collects the texts inside JSON: strings without their escapes, numbers and booleans as they are written. Names of
 * members are left out. The JSON may arrive in slices, so that a long one is never held as a whole.
 */

import { createTokenizer } from '../../../json/json-tokens.ts';
import { cutToBytes } from '../../text-limits.ts';
import {
  BINARY_CHARACTERS,
  isBinary,
  isDataMember,
  isMediaTypeMember,
  isReasoningMember,
  isUnsearchedType,
  marksReasoning,
} from './unsearched.ts';

export type ValueTexts = {
  /** Takes the next slice. Returns false when no further slice can add a text. */
  add(slice: string): boolean;
  /** All texts, one per line: at most the given bytes, line breaks not counted. */
  end(): string;
};

/** An open array or object. */
type Frame = {
  readonly isArray: boolean;
  /** The name of its current member. */
  key: string;
  /** Whether none of its texts are searched. */
  isDropped: boolean;
  /** Whether its `type` was seen, which decides whether it is dropped. */
  isTyped: boolean;
  hasMediaType: boolean;
  /** Which of the texts are its own data, binary if it names a media type. */
  readonly dataAt: number[];
  /** How many texts, and how many bytes of texts, there were before it. */
  readonly firstText: number;
  readonly bytesBefore: number;
};

/** Levels below the typed value: its list of messages or values is level 1. */
const ITEM_LEVEL = 2;
const PART_LEVEL = 4;

/** Collects the texts of one member of an object. The `type` of a typed value says how its `value` is read. */
export function collectTexts(wanted: 'value' | 'message', bytesMax: number): ValueTexts {
  const frames: Frame[] = [];
  const texts: string[] = [];
  let heldBytes = 0;
  let type = '';
  let isPast = false;

  function hold(text: string): void {
    if (heldBytes >= bytesMax) return;
    const kept = cutToBytes(text, bytesMax - heldBytes);
    if (kept === '') return;
    texts.push(kept);
    heldBytes += Buffer.byteLength(kept);
  }

  function takeString(text: string): void {
    const frame = frames.at(-1);
    if (frame === undefined) return;
    if (frames.length === 1 && frame.key === 'type') type = text;
    if (isLeftOut(frame)) return;
    if (!frame.isArray && frame.key === 'type') {
      frame.isTyped = true;
      frame.isDropped = isUnsearchedType(text);
      if (frame.isDropped || isFrameworkType(frames.length - 1)) return;
    }
    if (isMediaTypeMember(frame.key)) frame.hasMediaType = true;
    if (isBinary(text)) return;
    if (isDataMember(frame.key)) frame.dataAt.push(texts.length);
    hold(text);
  }

  /** Whether what comes next in a frame is not searched. */
  function isLeftOut(frame: Frame): boolean {
    if (frame.isDropped) return true;
    const level = frames.length - 1;
    if (level === 0) return frame.key !== wanted;
    if (type !== 'chat_messages' || level !== ITEM_LEVEL) return false;
    return frame.key === 'role' || isReasoningMember(frame.key);
  }

  /** Whether the innermost frame is a part of a message. */
  function isPart(): boolean {
    return type === 'chat_messages' && frames.length - 1 === PART_LEVEL;
  }

  /** Whether `type` only says of what kind a message, one of its parts or a listed value is. */
  function isFrameworkType(level: number): boolean {
    if (type === 'list') return level === ITEM_LEVEL;
    return type === 'chat_messages' && (level === ITEM_LEVEL || level === PART_LEVEL);
  }

  const tokenizer = createTokenizer(
    {
      open(isArray) {
        const parent = frames.at(-1);
        frames.push({
          isArray,
          key: '',
          isDropped: parent !== undefined && isLeftOut(parent),
          isTyped: false,
          hasMediaType: false,
          dataAt: [],
          firstText: texts.length,
          bytesBefore: heldBytes,
        });
      },
      close() {
        const frame = frames.pop();
        if (frame?.isDropped === true) {
          texts.length = frame.firstText;
          heldBytes = frame.bytesBefore;
        } else if (frame?.hasMediaType === true) {
          for (const index of frame.dataAt.reverse()) {
            heldBytes -= Buffer.byteLength(texts.splice(index, 1)[0] ?? '');
          }
        }
      },
      name(name) {
        const frame = frames.at(-1);
        if (frame === undefined) return;
        isPast ||= frames.length === 1 && frame.key === wanted;
        frame.key = name;
      },
      string: takeString,
      scalar(text) {
        const frame = frames.at(-1);
        if (frame === undefined || text === 'null' || isLeftOut(frame)) return;
        if (isPart() && marksReasoning(frame.key, text)) frame.isDropped = true;
        else hold(text);
      },
    },
    Math.max(bytesMax, BINARY_CHARACTERS),
  );

  /** Whether the texts are all that are wanted: nothing that follows can drop one of them. */
  function isFull(): boolean {
    const isSure = ({ isArray, isTyped, isDropped, dataAt }: Frame, level: number) =>
      isArray || level === 0 || (isTyped && !isDropped && dataAt.length === 0);
    return heldBytes >= bytesMax && frames.every(isSure);
  }

  return {
    add(slice) {
      tokenizer.add(slice);
      return !isPast && !isFull();
    },
    end: () => texts.join('\n'),
  };
}
