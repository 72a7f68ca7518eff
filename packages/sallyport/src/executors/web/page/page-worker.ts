// Runs in a thread of its own: pages are hostile, and a thread can be terminated while it works.
import { parentPort } from 'node:worker_threads';
import robotsModule from 'robots-parser';
import { convertFeed } from './convert-feed.ts';
import { convertHtml, PageRefused } from './convert-html.ts';
import type { PageAnswers, PageReply, PageRequest, PageTask } from './page-task.ts';

/** Its types declare a default export that the CommonJS module does not have. */
const robotsParser = robotsModule as unknown as typeof robotsModule.default;

parentPort?.on('message', (request: PageRequest) => parentPort?.postMessage(replyTo(request)));

function replyTo({ id, task }: PageRequest): PageReply {
  try {
    return { id, answer: answerTo(task) };
  } catch (thrown) {
    if (thrown instanceof PageRefused) return { id, refused: thrown.message };
    return { id, failed: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown) };
  }
}

function answerTo(task: PageTask): PageAnswers[PageTask['kind']] {
  switch (task.kind) {
    case 'html':
      return convertHtml(task);
    case 'feed':
      return convertFeed(task.xml, task.url);
    case 'robots':
      return robotsParser(task.robotsUrl, task.robots).isAllowed(task.url, task.userAgent) !== false;
  }
}
