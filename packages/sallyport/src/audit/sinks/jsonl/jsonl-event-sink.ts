import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KiB } from '@sallyport/std/bytes';
import { type ChainedEvent, eventText, eventTextParts } from '../../../domain/event/chained-event.ts';
import type { EventSink } from '../../event-sink.port.ts';

/** Bytes of lines that are written at once; a longer line is written by itself. */
const CHUNK_BYTES = 256 * KiB;
/** Most UTF-8 bytes of one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;
const NEW_LINE = 0x0a;

/**
 * Appends each event as one line of JSON to a file that only its owner can read; `flush` syncs it to the disk. A line
 * that a full disk or a crash cut off is ended, and its event comes again whole.
 * @throws the file system's error when the file cannot be opened or written; the relay retries
 */
export async function openJsonlEventSink(path: string): Promise<EventSink> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let mayBeCutOff = true;
  return {
    name: 'jsonl',
    async deliver(events) {
      if (mayBeCutOff && (await endsWithinLine(file))) await file.appendFile('\n');
      mayBeCutOff = true;
      for (let next = 0; next < events.length; ) {
        const lines = linesFrom(events, next, chunk);
        await file.appendFile(lines.bytes);
        next = lines.next;
      }
      mayBeCutOff = false;
    },
    flush: () => file.datasync(),
    close: () => file.close(),
  };
}

async function endsWithinLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead > 0 && buffer[0] !== NEW_LINE;
}

interface Lines {
  readonly bytes: Buffer;
  /** Index of the first event that did not fit. */
  readonly next: number;
}

/** The lines of as many events as the chunk holds, at least one, written without joining them into one string first. */
function linesFrom(events: readonly ChainedEvent[], from: number, chunk: Buffer): Lines {
  let used = 0;
  let next = from;
  for (; next < events.length; next += 1) {
    const event = events[next] as ChainedEvent;
    const [first, rest] = eventTextParts(event);
    if (used + (first.length + rest.length + 1) * UNIT_BYTES_MAX > chunk.length) {
      if (next === from) return { bytes: Buffer.from(`${eventText(event)}\n`), next: next + 1 };
      break;
    }
    used += chunk.write(first, used);
    used += chunk.write(rest, used);
    chunk[used] = NEW_LINE;
    used += 1;
  }
  return { bytes: chunk.subarray(0, used), next };
}
