const environment = `ENVIRONMENT
  RMQ_DB           database file, as --db
  RMQ_GROUP        group of commands that only read or consume, as -g
  RMQ_CLIENT_ID    name of a member, as consume --client-id
  RMQ_LOG=debug    the stack of an error that is a bug
  XDG_DATA_HOME    where the default database is: $XDG_DATA_HOME/rmq/rmq.db,
                   else ~/.local/share/rmq/rmq.db
  NO_COLOR         no colours; FORCE_COLOR colours in a pipe too; TERM=dumb
                   neither colours nor progress
  CI               never ask, no progress line

A flag beats the environment.

Programs started by consume --exec find:
  RMQ_MSG_ID RMQ_TOPIC RMQ_QUEUE_ID RMQ_QUEUE_OFFSET RMQ_KEY RMQ_KEYS RMQ_TAGS
  RMQ_RECONSUME_TIMES RMQ_GROUP RMQ_BORN_TIMESTAMP RMQ_PROPERTIES (JSON)
  RMQ_BODY_SIZE, and RMQ_BATCH_SIZE with --batch above 1
`

const exitCodes = `EXIT CODES
  0        success; a stream ended by Ctrl-C or SIGTERM after a clean stop;
           the reader closed the pipe
  1        unexpected failure, I/O, database damaged or busy past its bound,
           no permission, a handler that cannot be started
  2        usage: unknown command or flag, bad value, missing confirmation
  3        not found: topic, group, queue, message
  4        conflict: exists already, lock held, group still active, topic read
           only, database of a newer rmq
  5        a check ran and found something: verify, bench --assert
  6        partial: some items failed, each is listed
  7        timed out, or empty where --fail-empty asks for something
  130 143  cut short by a signal; a second signal during a clean stop

The same with --json, where an error is on stdout:
  {"error":{"code","message","why","hint","details","exitCode"}}
An answer of "no" at a prompt changes nothing and is a success.
`

const ordering = `ORDERING
  A topic has queues, and a queue is a log: its messages are consumed in the
  order in which they were stored. Messages of one key go to one queue
  (rmq queue-of TOPIC KEY), so the messages of a key are in order. Between
  queues there is no order.

  rmq send orders --key order-17 paid       all of order-17 in one queue
  rmq consume orders -g mailer --orderly    one message of a queue at a time
  rmq consume orders -g mailer --orderly --per-key 8
                                            8 keys of a queue at once, each
                                            in order
  rmq consume orders -g mailer              20 messages at once, in no order

LOCKS
  In a group each queue belongs to one consumer, which holds its lock (rmq locks
  list). When that consumer dies, another one takes the queue and begins at the
  committed offset: what was in work comes again, nothing overtakes.

FAILURES
  In order, a message whose handler fails is tried again in its place, and the
  messages behind it (of its key, with --per-key) wait. --max-reconsume N allows
  N further tries; what follows is for --on-exhausted to say:
    dlq       it goes to the dead letters, and its queue goes on
    block     its queue (its key, with --per-key) waits for a person
    park-key  it goes to the dead letters, and later messages of its key follow
              it there in their order; other keys go on
  rmq dlq replay puts messages in front of their queue, in their order, and
  opens keys that were parked. Without --orderly a message that failed comes
  again through the retry topic of its group, behind newer ones.

DELAYS
  A delayed message (rmq send --delay) has its place from when it comes to its
  queue: what was sent of its key meanwhile is in front of it.

NUMBER OF QUEUES
  rmq topics alter --queues sends keys to other queues. An orderly group gets
  what was sent after the change when it is done with all that was sent before,
  so each key stays in order (--plan shows what moves, rmq topics describe who
  holds it up). What was parked of a key before the change and after it is in
  order each, not together.

BROADCASTING
  With --broadcast each member gets all messages; with --orderly in order, and
  what cannot be handled is given up, since there are no dead letters.
`

const filters = `FILTERS
  --tag 'A || B'    messages of one of these tags; a message has one, '*' is all
  --sql EXPR        messages whose properties satisfy an SQL92 expression

  =  <>                       with texts, numbers, TRUE and FALSE
  <  <=  >  >=  BETWEEN       with numbers
  IN ('a', 'b')               with texts
  CONTAINS STARTSWITH ENDSWITH   with a text: name STARTSWITH 'A'
  IS NULL, IS NOT NULL        whether the message has the property
  AND OR NOT ( )              NOT also before BETWEEN, IN and the text tests

  Texts stand in single quotes, a quote in them is doubled. Properties go by
  their exact name, keywords in any case. TAGS is the tag, KEYS the lookup keys
  and __SHARDINGKEY the ordering key. A comparison is unknown with a property
  that the message has not, or whose text is no number where one is asked for.
  NOT of unknown is unknown, and a message is wanted when the whole is true.

  rmq send orders paid --tag paid --property total=250
  rmq consume orders -g big --sql "total > 100 AND TAGS IN ('paid', 'shipped')"

  What a filter leaves out is passed over and is no lag. All members of a group
  need the same filter.
`

const formatting = `FORMATTING
  -f takes a format in which these stand for parts of a message:
    %t topic   %p queue   %o offset   %k key   %K lookup keys   %g tags
    %s body   %S its size   %T store time   %B born time   %i message id
    %r reconsumeTimes   %h properties   %h{name} one of them
    %n running number   %% a percent sign   \\n \\t \\0 \\xNN bytes
    %s{json} %s{hex} %s{base64} the body encoded
    %T{iso} %B{iso} the time as RFC 3339
  --raw is the body and a newline, --raw0 the body and a NUL, --json one JSON
  record a line.

  rmq peek orders -f '%p:%o %k %s\\n'
  rmq peek orders -c 0 --json | rmq send copy --input ndjson

  On a terminal control characters are shown as escapes, whatever the format.
  In a pipe bytes go as they are.
`

/** Texts of `rmq help WORD` that belong to no single command. */
export const helpTexts: Readonly<Record<string, string>> = {
  environment,
  'exit-codes': exitCodes,
  filters,
  formatting,
  ordering,
}
