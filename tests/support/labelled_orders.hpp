// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_LABELLED_ORDERS_HPP
#define TMIGR_TESTS_LABELLED_ORDERS_HPP

namespace tmigr::test {

/// What a deterministic backend has in the place of a memory order: the label of the access.
struct labelled {
    const char* label;
};

/// The accesses of `expiry_orders`, by the same names, with their labels (labels.cpp holds the
/// two against each other).
struct labelled_orders {
    static constexpr labelled activate_load{"A1"};
    static constexpr labelled activate_swap{"A2"};
    static constexpr labelled activate_retry{"A2"};
    static constexpr labelled deactivate_load{"D1"};
    static constexpr labelled deactivate_child_load{"D2"};
    static constexpr labelled deactivate_swap{"D3"};
    static constexpr labelled deactivate_retry{"D3"};
    static constexpr labelled query_load{"Q1"};
    static constexpr labelled parent_load{"P1"};
    static constexpr labelled down_load{"P2"};
    static constexpr labelled roster_load{"P3"};
    static constexpr labelled parent_store{"G1"};
    static constexpr labelled grow_swap{"G2"};
    static constexpr labelled grow_retry{"G2"};
    static constexpr labelled carry_load{"G3"};
    static constexpr labelled carry_child_load{"G4"};
    static constexpr labelled carry_swap{"G5"};
    static constexpr labelled carry_retry{"G5"};
    static constexpr labelled down_store{"G6"};
    static constexpr labelled roster_store{"G7"};
    static constexpr labelled available_store{"V1"};
    static constexpr labelled available_load{"V2"};
    static constexpr labelled kick_swap{"K1"};
    static constexpr labelled kick_retry{"K1"};
    static constexpr labelled kicked_swap{"K2"};
    static constexpr labelled kicked_retry{"K2"};
    static constexpr labelled kick_load{"K3"};
    static constexpr labelled kicked_load{"K4"};
    static constexpr labelled prefer_load{"F1"};
    static constexpr labelled prefer_store{"F2"};
    static constexpr labelled sleep_slot_store{"O1"};
    static constexpr labelled wake_slot_store{"O2"};
    static constexpr labelled own_slot_load{"O3"};
    static constexpr labelled slot_query{"Q2"};
    static constexpr labelled peek_load{"Q3"};
    static constexpr labelled slot_scan{"S1"};
    static constexpr labelled refresh_load{"S2"};
    static constexpr labelled refresh_state{"S3"};
    static constexpr labelled refresh_swap{"S4"};
    static constexpr labelled refresh_retry{"S4"};
    static constexpr labelled new_slot_store{"N1"};
    static constexpr labelled new_state_load{"N2"};
    static constexpr labelled new_parent_load{"N3"};
    static constexpr labelled expire_state_load{"X1"};
    static constexpr labelled claim_swap{"X2"};
    static constexpr labelled claim_retry{"X2"};
    static constexpr labelled claim_release{"X3"};
    static constexpr labelled expire_slot_swap{"X4"};
    static constexpr labelled expire_slot_retry{"X4"};
};

}  // namespace tmigr::test

#endif
