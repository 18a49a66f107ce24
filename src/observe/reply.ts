/** What somebody asks for over HTTP. */
export type Question = {
  readonly method: string;
  /** Empty where it is no address. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether whoever asked has hung up meanwhile. */
  readonly isGone: () => boolean;
};

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Answers a question, or throws. */
export type Respond = (question: Question) => Reply | Promise<Reply>;

/** Answers every question; never rejects. */
export type Answering = (question: Question) => Promise<Reply>;

/** What answers at each path. */
export type Routes = Readonly<Record<string, Respond>>;

type Headers = Reply['headers'];

export function replyText(body: string, status = 200, headers: Headers = {}): Reply {
  return { status, headers: { 'Content-Type': 'text/plain; charset=UTF-8', ...headers }, body };
}

export function replyJson(value: unknown, status = 200): Reply {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) };
}
