const environment = `ENVIRONMENT
  RMQ_DB           database file, as --db
  RMQ_GROUP        group of commands that only read or consume, as -g
  RMQ_LOG=debug    the stack of an error that is a bug
  XDG_DATA_HOME    where the default database is: $XDG_DATA_HOME/rmq/rmq.db, else ~/.local/share/rmq/rmq.db
  NO_COLOR         no colours; FORCE_COLOR colours in a pipe too; TERM=dumb neither colours nor progress
  CI               never ask, no progress line

A flag beats the environment.

Programs started by consume --exec find:
  RMQ_MSG_ID RMQ_TOPIC RMQ_QUEUE_ID RMQ_QUEUE_OFFSET RMQ_KEY RMQ_KEYS RMQ_TAGS RMQ_RECONSUME_TIMES
  RMQ_GROUP RMQ_BORN_TIMESTAMP RMQ_PROPERTIES (JSON) RMQ_BODY_SIZE, and RMQ_BATCH_SIZE with --batch above 1
`

const exitCodes = `EXIT CODES
  0        success; a stream ended by Ctrl-C or SIGTERM after a clean stop; the reader closed the pipe
  1        unexpected failure, I/O, database damaged or busy past its bound, no permission
  2        usage: unknown command or flag, bad value, missing confirmation
  3        not found: topic, group, queue, message
  4        conflict: exists already, lock held, group still active, database of a newer rmq
  5        a check ran and found something: verify
  6        partial: some items failed, each is listed
  7        empty, where --fail-empty asks for something
  130 143  cut short by a signal; a second signal during a clean stop

The same with --json, where an error is {"error":{"code","message","why","hint","details","exitCode"}} on stdout.
An answer of "no" at a prompt changes nothing and is a success.
`

const ordering = `ORDERING
  A topic has queues, and a queue is a log: its messages are consumed in the order in which they were stored.
  Messages of one key go to one queue (rmq queue-of TOPIC KEY), so the messages of a key are in order.
  Between queues there is no order.

  rmq send orders --key order-17 paid       all of order-17 in one queue
  rmq consume orders -g mailer --orderly    one message of a queue at a time

  In a group each queue belongs to one consumer, which holds its lock (rmq locks list). When that consumer dies,
  another one takes the queue and begins at the committed offset: what was in work comes again, nothing overtakes.
  A message whose handler fails is tried again in its place, and the messages behind it wait. With --max-reconsume N
  it goes to the dead letters after N further tries and the queue goes on (rmq dlq list); rmq dlq replay puts it in
  front of its queue.
`

const formatting = `FORMATTING
  -f takes a format in which these stand for parts of a message:
    %t topic   %p queue   %o offset   %k key   %K lookup keys   %g tags   %s body   %S its size
    %T store time   %B born time   %i message id   %r reconsumeTimes   %h properties   %h{name} one of them
    %n running number   %% a percent sign   \\n \\t \\0 \\xNN bytes
    %s{json} %s{hex} %s{base64} the body encoded   %T{iso} %B{iso} the time as RFC 3339
  --raw is the body and a newline, --raw0 the body and a NUL, --json one JSON record a line.

  rmq peek orders -f '%p:%o %k %s\\n'
  rmq peek orders -c 0 --json | rmq send copy --input ndjson

  On a terminal control characters are shown as escapes, whatever the format. In a pipe bytes go as they are.
`

/** Texts of `rmq help WORD` that belong to no single command. */
export const helpTexts: Readonly<Record<string, string>> = {
  environment,
  'exit-codes': exitCodes,
  formatting,
  ordering,
}
