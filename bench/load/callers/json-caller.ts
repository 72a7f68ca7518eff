import { openConnection, postHead, postRequest } from '../http-connection.ts';
import { CALL_NUMBER, type Target } from '../target.ts';
import { type Caller, checkAnswer } from './caller.ts';

/** Each call is one POST with one JSON answer. */
export async function jsonCaller({ port, path, headers, request, expected }: Target): Promise<Caller> {
  const head = postHead(path, port, headers);
  let connection = await openConnection(port);
  return {
    async renew() {
      connection.close();
      connection = await openConnection(port);
    },
    async call(number) {
      const body = request.replaceAll(CALL_NUMBER, String(number));
      const answer = await connection.exchange(postRequest(head, body));
      checkAnswer(answer.body, expected.replaceAll(CALL_NUMBER, String(number)));
    },
    close: () => connection.close(),
  };
}
