#include <librdkafka/rdkafka.h>
#include <dlfcn.h>
#include <string.h>

// Which topic of a name it is, told by brokers since Kafka 2.8 and by librdkafka since 2.4: Debian 12's 2.0.2 has no such call, so the
// calls are looked up where the program runs. Base64 of 16 bytes, each in its place of `drover_topic_id_size`; empty where nobody says.
// To be removed with 2.0.2.
enum { drover_topic_id_size = 32 };

static inline void drover_topic_ids(
    rd_kafka_t *client, const char *const *topics, size_t count, int timeout_ms, char *ids) {
    for (size_t i = 0; i < count; i++) ids[i * drover_topic_id_size] = 0;
    void *library = dlopen(NULL, RTLD_LAZY);
    if (!library) return;
    void *(*collect)(const char *const *, size_t) =
        (void *(*)(const char *const *, size_t))dlsym(library, "rd_kafka_TopicCollection_of_topic_names");
    void (*discard)(void *) = (void (*)(void *))dlsym(library, "rd_kafka_TopicCollection_destroy");
    void (*describe)(rd_kafka_t *, const void *, const void *, rd_kafka_queue_t *) =
        (void (*)(rd_kafka_t *, const void *, const void *, rd_kafka_queue_t *))dlsym(library, "rd_kafka_DescribeTopics");
    const void *(*result_of)(rd_kafka_event_t *) =
        (const void *(*)(rd_kafka_event_t *))dlsym(library, "rd_kafka_event_DescribeTopics_result");
    const void **(*rows_of)(const void *, size_t *) =
        (const void **(*)(const void *, size_t *))dlsym(library, "rd_kafka_DescribeTopics_result_topics");
    const char *(*name_of)(const void *) = (const char *(*)(const void *))dlsym(library, "rd_kafka_TopicDescription_name");
    const void *(*id_of)(const void *) = (const void *(*)(const void *))dlsym(library, "rd_kafka_TopicDescription_topic_id");
    const char *(*text_of)(const void *) = (const char *(*)(const void *))dlsym(library, "rd_kafka_Uuid_base64str");
    if (collect && discard && describe && result_of && rows_of && name_of && id_of && text_of) {
        void *asked = collect(topics, count);
        rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
        describe(client, asked, NULL, queue);
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms);
        if (event && !rd_kafka_event_error(event)) {
            size_t found = 0;
            const void **rows = rows_of(result_of(event), &found);
            for (size_t row = 0; row < found; row++) {
                const void *id = id_of(rows[row]);
                const char *text = id ? text_of(id) : NULL;
                // A broker that knows no ids has zeros for all.
                if (!text || strspn(text, "A=") == strlen(text) || strlen(text) >= drover_topic_id_size) continue;
                for (size_t i = 0; i < count; i++)
                    if (!strcmp(topics[i], name_of(rows[row]))) strcpy(ids + i * drover_topic_id_size, text);
            }
        }
        if (event) rd_kafka_event_destroy(event);
        rd_kafka_queue_destroy(queue);
        discard(asked);
    }
    dlclose(library);
}
