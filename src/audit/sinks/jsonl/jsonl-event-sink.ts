import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { eventText } from '../../../domain/event/chained-event.ts';
import type { EventSink } from '../../event-sink.port.ts';

/**
 * Appends each event as one line of JSON to a file that only its owner can read; `flush` brings it to the disk.
 * @throws the file system's error when the file cannot be opened or written; the relay tries again
 */
export async function openJsonlEventSink(path: string): Promise<EventSink> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a', 0o600);
  return {
    name: 'jsonl',
    async deliver(events) {
      let lines = '';
      for (const event of events) lines += `${eventText(event)}\n`;
      await file.appendFile(lines);
    },
    flush: () => file.datasync(),
    close: () => file.close(),
  };
}
