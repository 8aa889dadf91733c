/* librdkafka's mock cluster as a process, for tests that need a broker to misbehave at a word.

   usage: broker_mock BROKERS TOPIC:PARTITIONS...      cc -o broker_mock broker_mock.c -lrdkafka

   Prints the bootstrap servers, then takes commands on standard input, one a line, and answers each with a line
   "ok" or "error: ...". Ends with "quit" or the end of its input, so it does not outlive who started it.

     fail API COUNT ERROR           the next COUNT requests of that kind are answered with ERROR (NOT_COORDINATOR,
                                    _TRANSPORT: the connection is closed, ...); API: see `apis` below
     forgive API                    forgets failures that are not used up
     leader TOPIC PARTITION BROKER  moves a partition; BROKER -1: it has no leader
     coordinator GROUP BROKER       moves a group
     rtt BROKER MILLISECONDS        delays every answer of a broker
     down BROKER | up BROKER        closes a broker's connections and its port | opens it again
     tell                           writes each request that comes from now on to standard error
     quit

   Limits of the mock: it keeps 5 MiB or 100,000 messages a partition, whichever comes first, and drops the oldest. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the Kafka protocol (kafka.apache.org/protocol, "Api Keys"). */
static const struct {
    const char *name;
    int16_t key;
} apis[] = {
    {"produce", 0},       {"fetch", 1},           {"list-offsets", 2}, {"metadata", 3},
    {"offset-commit", 8}, {"offset-fetch", 9},    {"find-coordinator", 10}, {"join-group", 11},
    {"heartbeat", 12},    {"leave-group", 13},    {"sync-group", 14},  {"init-producer-id", 22},
};

static int api_key(const char *name) {
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++)
        if (!strcmp(apis[i].name, name)) return apis[i].key;
    return -1;
}

/* By name as librdkafka prints it; false when there is none of that name. */
static int error_code(const char *name, rd_kafka_resp_err_t *code) {
    const struct rd_kafka_err_desc *rows;
    size_t count;
    rd_kafka_get_err_descs(&rows, &count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].name && !strcmp(rows[i].name, name)) return *code = rows[i].code, 1;
    return 0;
}

/* Returns NULL, or what is wrong with the command. */
static const char *obey(rd_kafka_mock_cluster_t *cluster, const char *line) {
    enum { COUNT_MAX = 1000 };
    char verb[32] = "", name[256] = "", error[64] = "";
    int number = 0, broker = 0;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR, codes[COUNT_MAX];
    sscanf(line, "%31s", verb);
    if (!strcmp(verb, "fail")) {
        if (sscanf(line, "%*s %255s %d %63s", name, &number, error) != 3) return "usage: fail API COUNT ERROR";
        if (api_key(name) < 0) return "there is no such API";
        if (!error_code(error, &code)) return "there is no such error";
        if (number < 1 || number > COUNT_MAX) return "COUNT must be 1 to 1000";
        for (int i = 0; i < number; i++) codes[i] = code;
        rd_kafka_mock_push_request_errors_array(cluster, (int16_t)api_key(name), (size_t)number, codes);
        return NULL;
    }
    if (!strcmp(verb, "forgive")) {
        if (sscanf(line, "%*s %255s", name) != 1 || api_key(name) < 0) return "usage: forgive API";
        rd_kafka_mock_clear_request_errors(cluster, (int16_t)api_key(name));
        return NULL;
    }
    if (!strcmp(verb, "leader")) {
        if (sscanf(line, "%*s %255s %d %d", name, &number, &broker) != 3) return "usage: leader TOPIC PARTITION BROKER";
        code = rd_kafka_mock_partition_set_leader(cluster, name, number, broker);
    } else if (!strcmp(verb, "coordinator")) {
        if (sscanf(line, "%*s %255s %d", name, &broker) != 2) return "usage: coordinator GROUP BROKER";
        code = rd_kafka_mock_coordinator_set(cluster, "group", name, broker);
    } else if (!strcmp(verb, "rtt")) {
        if (sscanf(line, "%*s %d %d", &broker, &number) != 2) return "usage: rtt BROKER MILLISECONDS";
        code = rd_kafka_mock_broker_set_rtt(cluster, broker, number);
    } else if (!strcmp(verb, "down") || !strcmp(verb, "up")) {
        if (sscanf(line, "%*s %d", &broker) != 1) return "usage: down BROKER, up BROKER";
        code = *verb == 'd' ? rd_kafka_mock_broker_set_down(cluster, broker) : rd_kafka_mock_broker_set_up(cluster, broker);
    } else if (!strcmp(verb, "tell")) {
        rd_kafka_set_log_level(rd_kafka_mock_cluster_handle(cluster), 7);
    } else {
        return "there is no such command";
    }
    return code ? rd_kafka_err2str(code) : NULL;
}

int main(int count, char **arguments) {
    char problem[512], line[512];
    int brokers = count > 1 ? atoi(arguments[1]) : 0;
    if (brokers < 1) return fprintf(stderr, "usage: broker_mock BROKERS TOPIC:PARTITIONS...\n"), 2;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "log_level", "3", problem, sizeof problem);
    rd_kafka_conf_set(conf, "debug", "mock", problem, sizeof problem);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, problem, sizeof problem);
    if (!client) return fprintf(stderr, "%s\n", problem), 1;
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(client, brokers);
    if (!cluster) return fprintf(stderr, "the mock cluster did not start\n"), 1;
    for (int i = 2; i < count; i++) {
        char topic[250];
        int partitions;
        if (sscanf(arguments[i], "%249[^:]:%d", topic, &partitions) != 2 ||
            rd_kafka_mock_topic_create(cluster, topic, partitions, brokers < 3 ? brokers : 3))
            return fprintf(stderr, "%s: must be TOPIC:PARTITIONS\n", arguments[i]), 2;
    }
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4)) {
        const char *wrong = obey(cluster, line);
        printf(wrong ? "error: %s\n" : "ok\n", wrong);
        fflush(stdout);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(client);
    return 0;
}
