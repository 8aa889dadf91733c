/* The curve P-256 and AES-128-GCM for web push, from functions that OpenSSL 3 has as macros or in many steps. Each answers 1 when it
   went well. */
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

static inline EVP_PKEY *drover_p256_new(void) { return EVP_EC_gen("P-256"); }

/* NULL: no private key of this curve. */
static inline EVP_PKEY *drover_p256_read(const unsigned char *pem, int length) {
    BIO *bio = BIO_new_mem_buf(pem, length);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;
    BIO_free(bio);
    char group[32] = "";
    size_t named = 0;
    if (key && (!EVP_PKEY_get_group_name(key, group, sizeof group, &named) || strcmp(group, "prime256v1"))) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return key;
}

/* The uncompressed point: 65 bytes. */
static inline int drover_p256_public(EVP_PKEY *key, unsigned char *point) {
    unsigned char *encoded = NULL;
    size_t length = EVP_PKEY_get1_encoded_public_key(key, &encoded);
    if (length == 65) memcpy(point, encoded, 65);
    OPENSSL_free(encoded);
    return length == 65;
}

static inline int drover_p256_agree(EVP_PKEY *ours, const unsigned char *point, size_t length, unsigned char *secret) {
    EVP_PKEY *peer = EVP_PKEY_new();
    EVP_PKEY_CTX *context = NULL;
    size_t count = 32;
    int well = peer && EVP_PKEY_copy_parameters(peer, ours) == 1 && EVP_PKEY_set1_encoded_public_key(peer, point, length) == 1
        && (context = EVP_PKEY_CTX_new(ours, NULL)) && EVP_PKEY_derive_init(context) == 1
        && EVP_PKEY_derive_set_peer(context, peer) == 1 && EVP_PKEY_derive(context, secret, &count) == 1 && count == 32;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(peer);
    return well;
}

/* r and s, 32 bytes each. */
static inline int drover_p256_sign(EVP_PKEY *key, const unsigned char *bytes, size_t length, unsigned char *signature) {
    unsigned char der[128];
    size_t count = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int well = context && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestSign(context, der, &count, bytes, length) == 1;
    EVP_MD_CTX_free(context);
    const unsigned char *at = der;
    ECDSA_SIG *pair = well ? d2i_ECDSA_SIG(NULL, &at, (long)count) : NULL;
    well = pair && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32) == 32;
    ECDSA_SIG_free(pair);
    return well;
}

/* `box` has 16 bytes more than `plain`. */
static inline int drover_aes_128_gcm(const unsigned char *key, const unsigned char *nonce, const unsigned char *plain, int length, unsigned char *box) {
    int written = 0, rest = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int well = context && EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce) == 1
        && EVP_EncryptUpdate(context, box, &written, plain, length) == 1 && EVP_EncryptFinal_ex(context, box + written, &rest) == 1
        && written + rest == length && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, box + length) == 1;
    EVP_CIPHER_CTX_free(context);
    return well;
}
