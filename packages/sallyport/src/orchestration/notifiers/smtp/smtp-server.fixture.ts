import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import type { Certificate } from '../../../../../sandbox/src/drivers/kubernetes/fake/certificates.fixture.ts';

/** One received mail. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly secured: boolean;
  /** User and password, when the client signed in. */
  readonly signedIn?: string;
}

/** A small server that speaks as much SMTP (RFC 5321, 3207, 4954) as a client needs. */
export interface SmtpServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** Commands as received. */
  readonly commands: string[];
  close(): Promise<void>;
}

export interface SmtpServerOptions {
  /** Offers STARTTLS, or TLS from the first byte. */
  readonly tls?: Certificate & { readonly implicit?: boolean };
  /** Reply to a recipient in place of 250. */
  readonly toRecipient?: (address: string) => string | undefined;
  /** Never replies. */
  readonly mute?: boolean;
}

export async function startSmtpServer(options: SmtpServerOptions = {}): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const take = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    if (options.mute !== true) serve(socket, options, mails, commands);
  };
  const server: Server =
    options.tls?.implicit === true
      ? createTlsServer({ cert: options.tls.cert, key: options.tls.key }, take)
      : createServer(take);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    commands,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** One connection; after STARTTLS a new session continues on it. */
interface Session {
  readonly socket: Socket;
  readonly options: SmtpServerOptions;
  readonly mails: ReceivedMail[];
  readonly commands: string[];
  from: string;
  to: string[];
  body: string[] | undefined;
  signedIn: string | undefined;
}

function serve(
  socket: Socket,
  options: SmtpServerOptions,
  mails: ReceivedMail[],
  commands: string[],
  greets = true,
): void {
  const session = { socket, options, mails, commands, from: '', to: [], body: undefined, signedIn: undefined };
  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) takeLine(session, line);
  });
  if (greets) say(session, '220 test');
}

const say = ({ socket }: Session, line: string): void => void (socket.writable && socket.write(`${line}\r\n`));
const addressIn = (line: string): string => /<(.*?)>/.exec(line)?.[1] ?? '';

function takeLine(session: Session, line: string): void {
  const { body, mails, from, to, socket, signedIn } = session;
  if (body === undefined) {
    session.commands.push(line);
    const [verb = ''] = line.toUpperCase().split(/[ :]/);
    (COMMANDS.get(verb) ?? (() => say(session, '250 ok')))(session, line);
  } else if (line !== '.') body.push(line.replace(/^\.\./, '.'));
  else {
    const secured = socket instanceof TLSSocket;
    mails.push({ from, to, text: body.join('\n'), secured, ...(signedIn === undefined ? {} : { signedIn }) });
    session.body = undefined;
    say(session, '250 taken');
  }
}

const COMMANDS: ReadonlyMap<string, (session: Session, line: string) => void> = new Map([
  ['EHLO', greet],
  ['STARTTLS', startTls],
  ['AUTH', signIn],
  [
    'MAIL',
    (session, line) => {
      session.from = addressIn(line);
      session.to = [];
      say(session, '250 ok');
    },
  ],
  [
    'RCPT',
    (session, line) => {
      const said = session.options.toRecipient?.(addressIn(line));
      if (said === undefined) session.to.push(addressIn(line));
      say(session, said ?? '250 ok');
    },
  ],
  [
    'DATA',
    (session) => {
      session.body = [];
      say(session, '354 go on');
    },
  ],
  ['QUIT', ({ socket }) => void socket.end('221 bye\r\n')],
]);

function greet(session: Session): void {
  const offersTls = session.options.tls !== undefined && !(session.socket instanceof TLSSocket);
  if (offersTls) say(session, '250-STARTTLS');
  say(session, '250 AUTH PLAIN');
}

function startTls(session: Session): void {
  const { socket, options, mails, commands } = session;
  if (options.tls === undefined) {
    say(session, '502 not here');
    return;
  }
  say(session, '220 go ahead');
  socket.removeAllListeners('data');
  const { cert, key } = options.tls;
  const secure = new TLSSocket(socket, { isServer: true, cert, key });
  secure.on('error', () => socket.destroy());
  serve(secure, options, mails, commands, false);
}

function signIn(session: Session, line: string): void {
  session.signedIn = Buffer.from(line.split(' ')[2] ?? '', 'base64')
    .toString()
    .split('\0')
    .slice(1)
    .join(':');
  say(session, session.signedIn === 'user:secret' ? '235 welcome' : '535 who?');
}
